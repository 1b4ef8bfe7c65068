//! A server of OPC UA Discovery and Global Services (GDS, OPC 10000-12) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_gds::model()];
    let hash = "e9099e7279f4a8291e276b094309861bf2f8149c70959ba6a70cad85542c21af";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/GDS/", &models, hash);
}
