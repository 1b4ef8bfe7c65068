//! A server of OPC UA for Industrial Automation (IA, OPC 10000-200) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_di::model(), uaforge_ia::model()];
    let hash = "16bb21a4707b75f036d583c866a7ce7e9f02847ea46ca730d181c48d72186e20";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/IA/", &models, hash);
}
