//! Types of a model below ObjectTypes of the base model have the members and Methods that those declare.

use std::sync::Mutex;

use uaforge::client::{Session, connect_insecure};
use uaforge::ns0::server::FileTypeMethods;
use uaforge::ns0::{FileType, FiniteStateMachineType, FolderType, StateMachineType};
use uaforge::server::typed::MethodContext;
use uaforge::server::{MethodError, Server};
use uaforge::{ByteString, LocalizedText, UaString, status};
use uaforge_goldens::base_types::{self, MixerStateMachineType, RecipeFileType, RecipeFolderType};
use uaforge_nodes::typed::{IsA, ObjectType as _};

/// A file in memory that one client has open.
#[derive(Default)]
struct Memory {
    content: Mutex<Vec<u8>>,
    position: Mutex<usize>,
}

impl FileTypeMethods for Memory {
    async fn open(&self, _: MethodContext<FileType>, mode: u8) -> Result<u32, MethodError> {
        if mode == 0 { Err(status::BAD_INVALID_ARGUMENT.into()) } else { Ok(7) }
    }

    async fn close(&self, _: MethodContext<FileType>, _: u32) -> Result<(), MethodError> {
        Ok(())
    }

    async fn read(&self, _: MethodContext<FileType>, _: u32, length: i32) -> Result<ByteString, MethodError> {
        let at = *self.position.lock().expect("unpoisoned");
        let content = self.content.lock().expect("unpoisoned");
        let rest = content.get(at..).unwrap_or_default();
        let length = usize::try_from(length).unwrap_or_default().min(rest.len());
        Ok(ByteString::from(&rest[..length]))
    }

    async fn write(&self, _: MethodContext<FileType>, _: u32, data: ByteString) -> Result<(), MethodError> {
        self.content.lock().expect("unpoisoned").extend(data.as_bytes().unwrap_or_default());
        Ok(())
    }

    async fn get_position(&self, _: MethodContext<FileType>, _: u32) -> Result<u64, MethodError> {
        Ok(*self.position.lock().expect("unpoisoned") as u64)
    }

    async fn set_position(
        &self,
        _: MethodContext<FileType>,
        _: u32,
        position: u64,
    ) -> Result<(), MethodError> {
        *self.position.lock().expect("unpoisoned") = usize::try_from(position).unwrap_or(usize::MAX);
        Ok(())
    }
}

fn server() -> Server {
    let builder = Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure();
    builder.model(uaforge::ns0()).model(&base_types::MODEL).build().expect("a server")
}

/// Runs a client against a server.
fn with_server<F: Future>(server: &Server, client: impl FnOnce(Session) -> F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let url = server.endpoints().first().cloned().expect("an endpoint");
    runtime.block_on(async {
        let server = server.clone();
        let running = tokio::spawn(async move { server.run_until(stopped).await });
        let output = client(connect_insecure(&url).await.expect("connected")).await;
        drop(stop);
        running.await.expect("the server does not panic").expect("the server runs");
        output
    })
}

#[test]
fn a_file_has_the_members_of_file_type() {
    let server = server();
    let builder = server.instantiate::<RecipeFileType>("Pilsner").with_optional(FileType::MIME_TYPE);
    let file = builder.handler(Memory::default()).build().expect("a file");
    file.author().set("A".into());
    file.size().set(12);
    file.writable().set(true);
    file.mime_type().expect("it was asked for").set("text/plain".into());
    with_server(&server, |session| async move {
        let file = session.object::<RecipeFileType>("Pilsner").await.expect("the file");
        assert_eq!(file.author().read().await.unwrap(), UaString::from("A"));
        assert_eq!(file.size().read().await.unwrap(), 12);
        assert!(file.writable().read().await.unwrap());
        let mime_type = file.mime_type().await.unwrap().expect("present");
        assert_eq!(mime_type.read().await.unwrap(), UaString::from("text/plain"));
        assert!(file.last_modified_time().await.unwrap().is_none());

        let handle = file.open(3).await.unwrap();
        file.write(handle, ByteString::from(&b"malt"[..])).await.unwrap();
        file.set_position(handle, 1).await.unwrap();
        assert_eq!(file.get_position(handle).await.unwrap(), 1);
        assert_eq!(file.read(handle, 9).await.unwrap(), ByteString::from(&b"alt"[..]));
        file.close(handle).await.unwrap();
        assert!(file.open(0).await.is_err());
        session.close().await;
    });
}

#[test]
fn members_are_typed_with_types_of_the_base_model() {
    let server = server();
    let builder = server.instantiate::<RecipeFolderType>("Recipes").with_optional(RecipeFolderType::RAW);
    let folder = builder.build().expect("a folder");
    folder.default().size().set(3);
    folder.raw().expect("it was asked for").size().set(4);
    folder.mixer().runs().set(2);
    folder.mixer().current_state().set(LocalizedText::new("en", "Idle"));
    folder.add_file("Ale").expect("one more").size().set(5);
    with_server(&server, |session| async move {
        let folder = session.object::<RecipeFolderType>("Recipes").await.expect("the folder");
        assert_eq!(folder.default().size().read().await.unwrap(), 3);
        assert_eq!(folder.raw().await.unwrap().expect("present").size().read().await.unwrap(), 4);
        assert_eq!(folder.mixer().runs().read().await.unwrap(), 2);
        let state = folder.mixer().current_state().read().await.unwrap();
        assert_eq!(state, LocalizedText::new("en", "Idle"));
        let files = folder.files().await.unwrap();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].size().read().await.unwrap(), 5);
        session.close().await;
    });
}

/// What is known of the types without a server: their ancestors and all that they declare.
#[test]
fn markers_know_their_supertypes() {
    fn is_a<T: IsA<Base>, Base>() {}
    is_a::<RecipeFileType, FileType>();
    is_a::<RecipeFolderType, FolderType>();
    is_a::<MixerStateMachineType, FiniteStateMachineType>();
    is_a::<MixerStateMachineType, StateMachineType>();
    let names: Vec<&str> = RecipeFileType::MEMBERS.all_mandatory().map(|member| member.name).collect();
    assert!(names.starts_with(&["Author"]) && names.contains(&"OpenCount"), "{names:?}");
    let names: Vec<&str> = MixerStateMachineType::MEMBERS.all().map(|member| member.name).collect();
    assert!(names.contains(&"CurrentState") && names.contains(&"LastTransition"), "{names:?}");
}
