//! A server of OPC UA for Pumps and Vacuum Pumps (OPC 40223) shows all of it.

#[test]
fn is_served_whole() {
    let models = [
        uaforge_ns0::model(),
        uaforge_di::model(),
        uaforge_ia::model(),
        uaforge_machinery::model(),
        uaforge_pumps::model(),
    ];
    let hash = "203b6aa3232ba4aba87319dc36dd3e3a78802db48bba318cdad53c71fe968c37";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/Pumps/", &models, hash);
}
