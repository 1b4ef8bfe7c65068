//! A server of OPC UA for Machinery: job management (OPC 40001-3) shows all of it.

#[test]
fn is_served_whole() {
    let models =
        [uaforge_ns0::model(), uaforge_isa95_jobcontrol_v2::model(), uaforge_machinery_jobs::model()];
    let hash = "c4c6f4fa5aed4a51be8862ceaad0f081a45c11c77e4f88b46771a12e59af7283";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/Machinery/Jobs/", &models, hash);
}
