//! A server of OPC UA dictionary of IRDIs (OPC 10000-19) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_irdi::model()];
    let hash = "5d2ffc511d52ec416268d1c1c79d63c5bec8bcc13093c67c3293e5aaadbd6ef2";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/Dictionary/IRDI", &models, hash);
}
