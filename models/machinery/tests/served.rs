//! A server of OPC UA for Machinery: building blocks (OPC 40001-1) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_di::model(), uaforge_ia::model(), uaforge_machinery::model()];
    let hash = "d4ffdca4ceeffc94152aa9def04a069bc7862a6c52f1e9adcf89647277039b3b";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/Machinery/", &models, hash);
}
