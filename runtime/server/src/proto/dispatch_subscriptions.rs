//! Dispatch of the service sets of subscriptions and monitored items (OPC 10000-4 §5.13, §5.14).

use std::sync::Arc;

use uaforge_codec::{Decoder, Encoder, StatusCode, Structure as _};
use uaforge_types::{
    CreateMonitoredItemsRequest, CreateSubscriptionRequest, DeleteMonitoredItemsRequest,
    DeleteSubscriptionsRequest, ModifyMonitoredItemsRequest, ModifySubscriptionRequest, PublishRequest,
    RepublishRequest, RepublishResponse, SetMonitoringModeRequest, SetPublishingModeRequest,
    SetTriggeringRequest, TransferSubscriptionsRequest, status,
};

use super::envelope::{put_header, put_response};
use super::turn::{Answered, Turn};
use crate::services::{monitored_item, subscription};
use crate::subscription::parked::Parked;

const CREATE_SUBSCRIPTION: u32 = CreateSubscriptionRequest::DESCRIPTOR.binary_id();
const MODIFY_SUBSCRIPTION: u32 = ModifySubscriptionRequest::DESCRIPTOR.binary_id();
const SET_PUBLISHING_MODE: u32 = SetPublishingModeRequest::DESCRIPTOR.binary_id();
const PUBLISH: u32 = PublishRequest::DESCRIPTOR.binary_id();
const REPUBLISH: u32 = RepublishRequest::DESCRIPTOR.binary_id();
const TRANSFER_SUBSCRIPTIONS: u32 = TransferSubscriptionsRequest::DESCRIPTOR.binary_id();
const DELETE_SUBSCRIPTIONS: u32 = DeleteSubscriptionsRequest::DESCRIPTOR.binary_id();
const CREATE_MONITORED_ITEMS: u32 = CreateMonitoredItemsRequest::DESCRIPTOR.binary_id();
const MODIFY_MONITORED_ITEMS: u32 = ModifyMonitoredItemsRequest::DESCRIPTOR.binary_id();
const SET_MONITORING_MODE: u32 = SetMonitoringModeRequest::DESCRIPTOR.binary_id();
const SET_TRIGGERING: u32 = SetTriggeringRequest::DESCRIPTOR.binary_id();
const DELETE_MONITORED_ITEMS: u32 = DeleteMonitoredItemsRequest::DESCRIPTOR.binary_id();

const REPUBLISH_RESPONSE: u32 = RepublishResponse::DESCRIPTOR.binary_id();

impl Turn<'_> {
    /// Serves what is no other service's.
    pub(super) fn serve_subscriptions(
        &mut self,
        service: u32,
        d: Decoder<'_>,
        e: &mut Encoder<'_>,
    ) -> Answered {
        match service {
            PUBLISH => self.publish(d, e),
            REPUBLISH => self.republish(d, e),
            CREATE_SUBSCRIPTION => self.create_subscription(d, e),
            MODIFY_SUBSCRIPTION => self.modify_subscription(d, e),
            SET_PUBLISHING_MODE => self.set_publishing_mode(d, e),
            TRANSFER_SUBSCRIPTIONS => self.transfer_subscriptions(d, e),
            DELETE_SUBSCRIPTIONS => self.delete_subscriptions(d, e),
            CREATE_MONITORED_ITEMS => self.create_monitored_items(d, e),
            MODIFY_MONITORED_ITEMS => self.modify_monitored_items(d, e),
            SET_MONITORING_MODE => self.set_monitoring_mode(d, e),
            SET_TRIGGERING => self.set_triggering(d, e),
            DELETE_MONITORED_ITEMS => self.delete_monitored_items(d, e),
            _ => {
                self.note_unread(&d);
                Err(status::BAD_SERVICE_UNSUPPORTED)
            }
        }
    }

    /// How many subscriptions or items a request names.
    fn check_count(&self, count: usize) -> Result<(), StatusCode> {
        match count {
            0 => Err(status::BAD_NOTHING_TO_DO),
            _ if count > self.core.limits.operations.max_monitored_items_per_call as usize => {
                Err(status::BAD_TOO_MANY_OPERATIONS)
            }
            _ => Ok(()),
        }
    }

    fn publish(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: PublishRequest = self.owned(d)?;
        let acknowledged = &request.subscription_acknowledgements;
        let admitted = self.admit(&request.request_header, acknowledged.len())?;
        let limit = self.core.limits.operations.max_monitored_items_per_call as usize;
        if acknowledged.len() > limit {
            return Err(status::BAD_TOO_MANY_OPERATIONS);
        }
        let parked = Parked {
            mailbox: Arc::clone(self.mailbox),
            request_id: self.request_id,
            handle: self.handle,
            diagnostics: self.diagnostics,
            deadline: subscription::publish_deadline(request.request_header.timeout_hint, self.now.ticks),
            room: e.room(),
            results: Vec::new(),
        };
        let mut subscriptions = self.core.subscriptions.using(self.now);
        subscriptions.publish(admitted.session.token, parked, acknowledged, self.now)?;
        // Nothing is written: the answer is posted.
        Ok(None)
    }

    fn republish(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: RepublishRequest = self.owned(d)?;
        let session = self.admit(&request.request_header, 1)?.session;
        let (id, number) = (request.subscription_id, request.retransmit_sequence_number);
        let message = self.core.subscriptions.using(self.now).republish(session.token, id, number)?;
        put_header(e, REPUBLISH_RESPONSE, self.now, self.handle);
        e.put(&message);
        Ok(None)
    }

    fn create_subscription(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: CreateSubscriptionRequest = self.owned(d)?;
        let admitted = self.admit(&request.request_header, 1)?;
        let mut response = subscription::create(&self.service(&admitted), &request)?;
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn modify_subscription(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: ModifySubscriptionRequest = self.owned(d)?;
        let admitted = self.admit(&request.request_header, 1)?;
        let mut response = subscription::modify(&self.service(&admitted), &request)?;
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn set_publishing_mode(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: SetPublishingModeRequest = self.owned(d)?;
        let admitted = self.admit(&request.request_header, request.subscription_ids.len())?;
        self.check_count(request.subscription_ids.len())?;
        let mut response = subscription::set_publishing_mode(&self.service(&admitted), &request);
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn transfer_subscriptions(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: TransferSubscriptionsRequest = self.owned(d)?;
        let admitted = self.admit(&request.request_header, request.subscription_ids.len())?;
        self.check_count(request.subscription_ids.len())?;
        let mut response = subscription::transfer(&self.service(&admitted), &request);
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn delete_subscriptions(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: DeleteSubscriptionsRequest = self.owned(d)?;
        let admitted = self.admit(&request.request_header, request.subscription_ids.len())?;
        self.check_count(request.subscription_ids.len())?;
        let mut response = subscription::delete(&self.service(&admitted), &request);
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn create_monitored_items(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: CreateMonitoredItemsRequest = self.owned(d)?;
        let admitted = self.admit(&request.request_header, request.items_to_create.len())?;
        self.check_count(request.items_to_create.len())?;
        let mut response = monitored_item::create(&self.service(&admitted), request)?;
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn modify_monitored_items(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: ModifyMonitoredItemsRequest = self.owned(d)?;
        let admitted = self.admit(&request.request_header, request.items_to_modify.len())?;
        self.check_count(request.items_to_modify.len())?;
        let mut response = monitored_item::modify(&self.service(&admitted), &request)?;
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn set_monitoring_mode(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: SetMonitoringModeRequest = self.owned(d)?;
        let admitted = self.admit(&request.request_header, request.monitored_item_ids.len())?;
        self.check_count(request.monitored_item_ids.len())?;
        let mut response = monitored_item::set_mode(&self.service(&admitted), &request)?;
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn set_triggering(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: SetTriggeringRequest = self.owned(d)?;
        let links = request.links_to_add.len().saturating_add(request.links_to_remove.len());
        let admitted = self.admit(&request.request_header, links)?;
        self.check_count(links)?;
        let mut response = monitored_item::set_triggering(&self.service(&admitted), &request)?;
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn delete_monitored_items(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: DeleteMonitoredItemsRequest = self.owned(d)?;
        let admitted = self.admit(&request.request_header, request.monitored_item_ids.len())?;
        self.check_count(request.monitored_item_ids.len())?;
        let mut response = monitored_item::delete(&self.service(&admitted), &request)?;
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }
}
