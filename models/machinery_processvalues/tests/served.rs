//! A server of OPC UA for Machinery: process values (OPC 40001-2) shows all of it.

#[test]
fn is_served_whole() {
    let models = [
        uaforge_ns0::model(),
        uaforge_di::model(),
        uaforge_irdi::model(),
        uaforge_padim::model(),
        uaforge_machinery_processvalues::model(),
    ];
    let hash = "0e5662d15637a91cd424cec6718a7f5f358c58904f1a09d0ae742cf66bca2b90";
    uaforge_smoke::assert_served("http://opcfoundation.org/UA/Machinery/ProcessValues/", &models, hash);
}
