//! A server of OPC UA for PackML (OPC 30050) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_pack_ml::model()];
    let hash = "6cce700be8f5cade954e35999473b8a2e1cb4b973b9cb751ee2c36c2f3bd1528";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/PackML/", &models, hash);
}
