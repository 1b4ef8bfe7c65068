//! A server of OPC UA for Weighing Technology (OPC 40200) shows all of it.

#[test]
fn is_served_whole() {
    let models = [
        uaforge_ns0::model(),
        uaforge_di::model(),
        uaforge_ia::model(),
        uaforge_machinery::model(),
        uaforge_pack_ml::model(),
        uaforge_scales::model(),
    ];
    let hash = "33f73020c69bd0de8e50f013d0e0e585e5a51d1263fc79c66a4fc3b53ae09196";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/Scales/V2/", &models, hash);
}
