//! A model that requires Machinery and Robotics, which share DI and IA.

uaforge::include_model!(plant);
