//! A server of OPC UA for ISA-95: job control (OPC 10031-4) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_isa95_jobcontrol_v2::model()];
    let hash = "0acd431f42f7394fab02322e99e4e56ef6e864cc8224c87a7ef9a41745883228";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/ISA95-JOBCONTROL_V2/", &models, hash);
}
