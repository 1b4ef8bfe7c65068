//! A server of OPC UA for Machine Tools (OPC 40501-1) shows all of it.

#[test]
fn is_served_whole() {
    let models = [
        uaforge_ns0::model(),
        uaforge_di::model(),
        uaforge_ia::model(),
        uaforge_isa95_jobcontrol_v2::model(),
        uaforge_machinery::model(),
        uaforge_machinery_jobs::model(),
        uaforge_machine_tool::model(),
    ];
    let hash = "5ae1f6d2de42df215fddc83836a9686e674ce82d698bc803d353317b49cc29db";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/MachineTool/", &models, hash);
}
