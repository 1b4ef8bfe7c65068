//! A server of OPC UA for Robotics (OPC 40010-1) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_di::model(), uaforge_ia::model(), uaforge_robotics::model()];
    let hash = "1386d3832d1b7bd5b12764d28f4e8100696fc39a19cacac07430afde9c13f103";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/Robotics/", &models, hash);
}
