// What programs on the bus import: the event model and the client, under one name.
@_exported public import BusClient
@_exported public import EventModel
