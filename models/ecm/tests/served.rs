//! A server of OPC UA for Energy Consumption Management (ECM, OPC 34100) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_di::model(), uaforge_ia::model(), uaforge_ecm::model()];
    let hash = "9884083eb2421486498e2f173912f419b6cfd5a2daccc924e86b321a0ebb7aa6";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/ECM/", &models, hash);
}
