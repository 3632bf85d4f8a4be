// What programs on the bus import: the event model, the client, and the protocol's words that the client
// takes and gives (NameFilter, StartPosition, Position), under one name.
@_exported public import BusClient
@_exported public import BusProtocol
@_exported public import EventModel
@_exported public import EventObservation

extension InProcessBus: EventPublishing {}
