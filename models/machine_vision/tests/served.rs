//! A server of OPC UA for Machine Vision (OPC 40100-1) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_machine_vision::model()];
    let hash = "b247068e9e40b4e52362fb6d62524103dd2d39b323a85b217f8517161047d578";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/MachineVision", &models, hash);
}
