//! A server of OPC UA for Process Automation Devices (PA-DIM, OPC 30081) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_di::model(), uaforge_irdi::model(), uaforge_padim::model()];
    let hash = "d21cda3b41ebfaeafb54683158b0968c3cef82746e6880a77b94bfef84d17524";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/PADIM/", &models, hash);
}
