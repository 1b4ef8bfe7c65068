//! A server of OPC UA for Machinery: result transfer (OPC 40001-101) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_machinery_result::model()];
    let hash = "7c5f736cdaf59895bb7fb63e836cdf64db8a9c81771fe00319b7078100225ed5";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/Machinery/Result/", &models, hash);
}
