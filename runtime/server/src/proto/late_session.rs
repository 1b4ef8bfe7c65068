//! CreateSession and ActivateSession requests that wait for a private key or for whoever knows the users.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use uaforge_channel::Operation;
use uaforge_codec::{Now, StatusCode};
use uaforge_types::{ActivateSessionResponse, CreateSessionResponse, SignatureData, status};

use super::session::Session;
use crate::security::{Authenticator, Credentials, Login, User};
use crate::services::session::{Activating, finish_activation};
use crate::shared::Core;

/// A request whose response comes later.
pub(crate) struct LateSession {
    /// Of the request message.
    pub(crate) request_id: u32,
    /// Of the request header.
    pub(crate) handle: u32,
    work: Work,
}

enum Work {
    Create {
        response: Box<CreateSessionResponse>,
        session: Arc<Session>,
        signature: Operation<SignatureData>,
    },
    Activate {
        activating: Activating,
        user: Pin<Box<dyn Future<Output = Result<User, StatusCode>> + Send>>,
    },
}

/// What is answered.
pub(crate) enum Answer {
    Created(Box<CreateSessionResponse>),
    Activated { response: Box<ActivateSessionResponse>, session: Arc<Session> },
    Fault(StatusCode),
}

impl LateSession {
    /// A session whose response is to be signed.
    pub(crate) fn create(
        ids: (u32, u32),
        response: Box<CreateSessionResponse>,
        session: Arc<Session>,
        signature: Operation<SignatureData>,
    ) -> Self {
        let (request_id, handle) = ids;
        Self { request_id, handle, work: Work::Create { response, session, signature } }
    }

    /// A session whose user is to be decided on.
    pub(crate) fn activate(
        ids: (u32, u32),
        activating: Activating,
        login: Login,
        authenticator: Arc<dyn Authenticator>,
        now: Now,
    ) -> Self {
        let (request_id, handle) = ids;
        let user = Box::pin(async move {
            let credentials = match login {
                Login::Now(credentials) => credentials,
                Login::Secret { name, secret } => {
                    let secret = secret.await.map_err(|_| status::BAD_IDENTITY_TOKEN_INVALID)?;
                    match name {
                        Some(name) => Credentials::UserName { name, password: secret },
                        None => Credentials::Issued(secret),
                    }
                }
            };
            authenticator.authenticate(credentials, now).await
        });
        Self { request_id, handle, work: Work::Activate { activating, user } }
    }

    /// Asks for what it waits for.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Outcome, StatusCode>> {
        match &mut self.work {
            Work::Create { signature, .. } => Pin::new(signature)
                .poll(cx)
                .map(|signed| signed.map(Outcome::Signed).map_err(|error| error.status)),
            Work::Activate { user, .. } => user.as_mut().poll(cx).map(|user| user.map(Outcome::User)),
        }
    }

    /// The answer, once what it waited for is there.
    fn finish(self, outcome: Result<Outcome, StatusCode>, core: &Core, now: Now) -> Answer {
        match (self.work, outcome) {
            (Work::Create { mut response, .. }, Ok(Outcome::Signed(signature))) => {
                response.server_signature = signature;
                Answer::Created(response)
            }
            (Work::Create { session, .. }, outcome) => {
                session.close(true);
                core.sessions.remove(session.token);
                Answer::Fault(outcome.err().unwrap_or(status::BAD_INTERNAL_ERROR))
            }
            (Work::Activate { activating, .. }, Ok(Outcome::User(user))) => {
                let session = Arc::clone(&activating.session);
                match finish_activation(core, activating, Some(user), now.ticks) {
                    Ok(response) => Answer::Activated { response: Box::new(response), session },
                    Err(status) => Answer::Fault(status),
                }
            }
            (Work::Activate { .. }, outcome) => {
                Answer::Fault(outcome.err().unwrap_or(status::BAD_INTERNAL_ERROR))
            }
        }
    }
}

/// What a request waited for.
enum Outcome {
    Signed(SignatureData),
    User(User),
}

/// The next request of `waiting` that can be answered.
pub(crate) fn poll_next(
    waiting: &mut Vec<LateSession>,
    cx: &mut Context<'_>,
    core: &Core,
    now: &dyn Fn() -> Now,
) -> Option<(u32, u32, Answer)> {
    let ready = waiting.iter_mut().enumerate().find_map(|(at, late)| match late.poll(cx) {
        Poll::Ready(outcome) => Some((at, outcome)),
        Poll::Pending => None,
    });
    let (at, outcome) = ready?;
    let late = waiting.remove(at);
    Some((late.request_id, late.handle, late.finish(outcome, core, now())))
}
