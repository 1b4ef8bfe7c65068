//! Hands the interface of the model to dependents.

fn main() {
    uaforge_publish::publish("interface.txt", "::uaforge_amb");
}
