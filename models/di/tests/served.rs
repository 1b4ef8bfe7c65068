//! A server of OPC UA for Devices (DI, OPC 10000-100) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_di::model()];
    let hash = "ddfa687decec8266890c9d02bb6171c849a7f07434aec380f0b4c80746017443";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/DI/", &models, hash);
}
