//! A server of OPC UA for Laboratory and Analytical Devices (LADS, OPC 30500-1) shows all of it.

#[test]
fn is_served_whole() {
    let models = [
        uaforge_ns0::model(),
        uaforge_amb::model(),
        uaforge_di::model(),
        uaforge_ia::model(),
        uaforge_machinery::model(),
        uaforge_lads::model(),
    ];
    let hash = "dace32b703d5855bb12a3ec3d23134696deb59a09730c8066fd91f9c159a1b55";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/LADS/", &models, hash);
}
