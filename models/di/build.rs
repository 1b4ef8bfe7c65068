//! Hands the interface of DI to dependents.

fn main() {
    uaforge_publish::publish("interface.txt", "::uaforge_di");
}
