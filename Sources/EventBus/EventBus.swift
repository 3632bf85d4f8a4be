@_exported public import BusClient
@_exported public import EventModel
