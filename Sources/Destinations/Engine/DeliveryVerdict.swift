/// What the answer to one request means for its events, and so what happens next.
///
/// Items are named by their index in the request. A reason is what a person reads in logs, states and
/// dead letters: short, and without a credential; the engine cleans it and cuts it to 300 bytes.
public enum DeliveryVerdict: Hashable, Sendable {
  /// All are stored at the provider.
  case delivered
  /// All were taken by the answer's status, but what else it says cannot be read. Delivered too; counted
  /// apart.
  case deliveredUnproven(String)
  /// These were refused and become dead letters; all the others are stored.
  case partial(refused: [Int: String])
  /// These were refused and become dead letters; none is stored, and the others are sent again.
  case refusedOnly(these: [Int: String])
  /// Refused as a whole without saying which (400, 422): it is halved until the bad one is alone, which
  /// then becomes a dead letter. None is stored.
  case split(String)
  /// The request is too long (413): it is halved until it fits, and later ones are cut shorter. None is
  /// stored.
  case tooLarge(String)
  /// The users of these items have to wait for `time`; none is stored. The others are sent again at
  /// once, and later events of these users stay behind them.
  case hold(items: [Int], for: Duration, String)
  /// The whole destination has to wait. Nil: it did not say how long, so the back-off decides.
  case pause(Duration?, String)
  /// It may go well later: the back-off decides when. An event that fails so while it is alone, for
  /// twelve hours, while others get through, becomes a dead letter.
  case retry(String)
  /// Nothing will go well until a person changes something (key, address): events are kept, and a
  /// request is made every few minutes at most.
  case configuration(String)

  /// A pause longer than this is taken for a mistake.
  public static let longestPause: Duration = .seconds(3600)
}
