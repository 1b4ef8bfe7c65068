//! A server of OPC UA for ISA-95: common object model (OPC 10030) shows all of it.

#[test]
fn is_served_whole() {
    let models = [uaforge_ns0::model(), uaforge_isa95::model()];
    let hash = "568359c2d7576859017cfc81e1cd20092ad09b6e12ea515cd080846ab970a132";
    uaforge_smoke::assert_served("http://www.OPCFoundation.org/UA/2013/01/ISA95", &models, hash);
}
