internal import SinkState
internal import BusProtocol
internal import BusClient
internal import Database
internal import Primitives

/// What is to be stored, and when.
struct DeliverySaving {
  /// Taken from the core and not stored yet: the disk did not take it.
  var pending: Settlement?
  var next: Int64 = 0
  var failure: String?
  var nextLetters: Int64 = 0
  var firstLetter: Int64 = 0

  var isFailing: Bool { failure != nil }

  /// Between two commits; each costs one sync of the disk.
  static let interval: Int64 = 200_000_000
  /// Between two tries while the disk does not take it.
  static let retryInterval: Int64 = 2_000_000_000
}

/// Stores what was settled, and tells the bus.
extension DeliveryLoop {
  mutating func save(at now: Int64, isEnding: Bool) {
    guard now >= saving.next || isEnding else { return }
    if saving.pending == nil { saving.pending = core.takeSettlement() }
    guard let settlement = saving.pending else { return storeWorks() }
    do throws(DatabaseError) {
      let dropped = try store.commit(settlement, at: Timestamp.now())
      if dropped > 0 { reportDropped(dropped) }
    } catch { return storeFailed(error, at: now) }
    saving.pending = nil
    saving.next = now + DeliverySaving.interval
    storeWorks()
    guard let progress = settlement.progress else { return }
    publishing.progress = progress
    subscriber.commit(progress.cursor)
    guard isEnding else { return }
    do {
      _ = try subscriber.waitForCommit(progress.cursor, deadline: .seconds(1))
    } catch {
      // The cursor in its own file is what counts.
    }
  }

  /// Nothing is sent until it can be stored again: else more and more would be sent twice after a crash.
  mutating func storeFailed(_ error: DatabaseError, at now: Int64) {
    saving.failure = error.description
    saving.next = now + DeliverySaving.retryInterval
    saving.nextLetters = saving.next
    shared.report(.init(.error, "store", error.description))
    guard error.kind == .corrupt else { return }
    do throws(DeliveryStoreError) {
      try store.replaceDamaged(at: Timestamp.now())
      saving.next = now
      saving.firstLetter = 0
      report(store.takeNotices())
    } catch {
      shared.report(.init(.error, "store", error.description))
    }
  }

  private mutating func storeWorks() {
    guard saving.failure != nil else { return }
    saving.failure = nil
    shared.report(.init(.info, "store_recovered", "the state is stored again"))
  }

  private func reportDropped(_ count: Int) {
    shared.report(
      .init(
        .error, "letters_dropped",
        "the \(count) oldest dead letters were dropped, since there are more than "
          + "--dead-letter-bytes \(configuration.deadLetterBytes) keeps: redrive or drop some"))
  }
}
