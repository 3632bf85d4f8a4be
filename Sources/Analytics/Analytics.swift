// What apps import: the event model, and the service, client and builders on top of it, under one name.
@_exported public import EventModel
