/// What the core wants done. Batches are not among them: the shell asks for them with `sendNext`, as
/// many as the socket takes.
enum ProducerAction: Equatable {
  case send([UInt8])
  /// Close the socket with all it still holds, and make a new one.
  case reconnect
  /// These many events are settled for good, and their memory is free.
  case acknowledged(events: Int, cost: Int, row: Int64?)
  /// Whose events were acknowledged, and which were refused, of those that have tickets.
  case stored(TicketRuns)
  case refusedTickets([TicketRefusal])
  /// `row` is given back when the whole batch is gone.
  case refused([RefusedEvent], cost: Int, row: Int64?)
  /// The limits and the last stored sequence are known.
  case welcomed(storedSequence: UInt64)
  case notice(ConnectionNotice)
  /// The producer can do no more; what is unacknowledged stays so.
  case failed(BusClientError)
}
