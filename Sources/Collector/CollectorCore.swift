internal import BusClient
internal import BusProtocol
internal import EventModel
internal import HTTPServer
internal import Primitives

/// Reads requests: what they hold, who may send it, and what is wrong with it. No I/O and no clock; it
/// reuses buffers, so one thread at a time has it.
struct CollectorCore: Sendable {
  /// What is to be done with a request.
  enum Decision: Sendable {
    /// There is nothing to store: answer it.
    case answer(HTTPResponse)
    /// Publish `verdicts.events`, then answer.
    case publish(Verdicts)
  }

  private let keys: WriteKeys
  private let maximumBodyBytes: Int
  private var segment: SegmentDecoder
  private var mixpanel: MixpanelDecoder

  init(
    keys: WriteKeys, maximumBodyBytes: Int, rules: PropertyRules, plan: PlanHolder = PlanHolder()
  ) {
    self.keys = keys
    self.maximumBodyBytes = maximumBodyBytes
    let mapping = PathMapping(holder: plan)
    segment = SegmentDecoder(rules: RuleApplication(rules), mapping: mapping)
    mixpanel = MixpanelDecoder(rules: RuleApplication(rules), mapping: mapping)
  }

  /// - Parameter receivedAt: nanoseconds since 1970.
  mutating func decide(
    _ request: HTTPRequest, _ route: CollectorRoute, receivedAt: Int64
  ) throws(RequestFailure) -> Decision {
    // A key that is wrong is told before the body is looked at.
    let shown = WriteKeys.shown(by: request)
    if shown != nil, !keys.allow(shown) { throw .unauthorized }
    if route == .clientMetrics {
      guard keys.allow(shown) else { throw .unauthorized }
      return .answer(.json(Array("{\"success\":true}".utf8)))
    }
    let body: [UInt8]
    do throws(RequestBody.Failure) {
      body = try RequestBody.bytes(of: request, limit: maximumBodyBytes)
    } catch {
      throw RequestFailure(error)
    }
    let isAllowed = shown != nil || keys.isOpen
    return route.isMixpanel
      ? try decideMixpanel(request, route, body, isAllowed, receivedAt)
      : try decideSegment(route, body, isAllowed, receivedAt)
  }

  private mutating func decideSegment(
    _ route: CollectorRoute, _ body: [UInt8], _ isAllowed: Bool, _ receivedAt: Int64
  ) throws(RequestFailure) -> Decision {
    let bytes = unsafe body.span.bytes
    let (shape, kind, needsIdentity): (EventList.Shape, EventKind, Bool) =
      switch route {
      case .single(let kind): (.single, kind, true)
      case .batch: (.batch, .track, true)
      default: (.list, .track, false)
      }
    let list: EventList
    do throws(BodyError) {
      list = try EventList(bytes, shape)
    } catch {
      // Who shows no valid key is not told more than that.
      throw isAllowed ? RequestFailure(error) : .unauthorized
    }
    guard isAllowed || keys.allow(Self.text(list.writeKey, bytes)) else { throw .unauthorized }
    var verdicts = Verdicts()
    verdicts.events.payloads.reserveCapacity(body.count + body.count / 4)
    try segment.read(
      list, of: bytes, kind: kind, needsIdentity: needsIdentity, receivedAt: receivedAt,
      into: &verdicts)
    return .publish(verdicts)
  }

  /// A text without escapes, as keys are.
  private static func text(_ range: Range<Int>?, _ body: RawSpan) -> [UInt8]? {
    guard let range, range.count >= 2 else { return nil }
    return body.extracting(range.lowerBound + 1..<range.upperBound - 1).copied()
  }

  private mutating func decideMixpanel(
    _ request: HTTPRequest, _ route: CollectorRoute, _ body: [UInt8], _ isAllowed: Bool,
    _ receivedAt: Int64
  ) throws(RequestFailure) -> Decision {
    let given = try MixpanelBody(request, body)
    let bytes = unsafe given.bytes.span.bytes
    let list: EventList
    do throws(BodyError) {
      list =
        given.isLines
        ? try EventList(lines: bytes) : try EventList(bytes, .listOrSingle)
    } catch {
      throw isAllowed ? RequestFailure(error) : .unauthorized
    }
    let demands = MixpanelDecoder.Demands(
      isStrict: route == .mixpanelImport && !given.isForm && request.parameter("strict") != "0",
      keys: isAllowed ? nil : keys)
    var verdicts = Verdicts()
    mixpanel.read(list, of: bytes, route, demands, receivedAt: receivedAt, into: &verdicts)
    // Where not one event shows a key, it is the request that has none.
    if !isAllowed, verdicts.isUnauthorized { throw .unauthorized }
    return .publish(verdicts)
  }
}

extension Verdicts {
  /// There is nothing but events without a valid key.
  var isUnauthorized: Bool {
    entries.allSatisfy { entry in
      guard case .refused(_, let refusal) = entry else { return false }
      return refusal.code == RefusalCode.denied.rawValue
    }
  }
}
