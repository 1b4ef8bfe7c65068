//! A server of OPC UA for Asset Management Basics (AMB, OPC 10000-110) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_amb::model()];
    let hash = "7001f774805495473d6d3475a035ba7d82335b0482226462b71f6a8948c437e8";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/AMB/", &models, hash);
}
