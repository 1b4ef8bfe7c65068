//! A server of OPC UA for Machinery: energy management (OPC 40001-4) shows all of it.

#[test]
fn is_served_whole() {
    let models = [
        uaforge_ns0::model(),
        uaforge_di::model(),
        uaforge_ecm::model(),
        uaforge_ia::model(),
        uaforge_machinery_energy::model(),
    ];
    let hash = "841f51cf6a3d55f45936b760558b62f0308b1deabaf509ed5c02f96ccadd764c";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/Machinery/Energy/", &models, hash);
}
