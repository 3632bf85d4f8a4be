internal import EventCodec
internal import Primitives

/// An event as providers get it: with its ids, time, common properties and context, encoded.
public struct StampedEvent: Sendable, Hashable {
  /// The name under which it travels: the event's own, or `$identify`, `$screen` and so on.
  public let topic: String
  /// One MessagePack map, as the bus carries it. Checked: it can be stored, sent and read everywhere.
  public let payload: [UInt8]

  init(topic: String, payload: [UInt8]) {
    self.topic = topic
    self.payload = payload
  }

  /// Encodes an envelope.
  ///
  /// - Throws: when its name, size or depth is not allowed.
  public init(_ envelope: EventEnvelope) throws(EventEncodingError) {
    var payload: [UInt8] = []
    envelope.appendPayload(to: &payload)
    let topic = envelope.topic
    let name = Array(topic.utf8)
    if envelope.kind == .track {
      do throws(EventNameError) { try unsafe EventName.validate(name.span.bytes) } catch {
        throw EventEncodingError("its name cannot be used: \(error)")
      }
    }
    guard payload.count <= EventLimits.maximumEventBytes else {
      throw EventEncodingError(
        "\(payload.count) bytes; \(EventLimits.maximumEventBytes) are allowed")
    }
    do throws(PayloadError) {
      try unsafe PayloadWalker.check(payload.span.bytes, name: name.span.bytes)
    } catch {
      throw EventEncodingError("\(error)")
    }
    self.init(topic: topic, payload: payload)
  }

  /// Every field of it. Decodes at each call, some microseconds.
  public var envelope: EventEnvelope {
    do throws(CodecError) {
      return try unsafe EventEnvelope(payload: payload.span.bytes)
    } catch {
      preconditionFailure("an event that was encoded here does not decode: \(error)")
    }
  }

  /// Its canonical JSON, one object.
  public func json() -> [UInt8] {
    var scratch: [UInt8] = []
    return json(using: &scratch)
  }

  /// The same with memory that is used again: room is made for the worst case, and the result is as large
  /// as it is.
  func json(using scratch: inout [UInt8]) -> [UInt8] {
    scratch.removeAll(keepingCapacity: true)
    do throws(CodecError) {
      try unsafe CanonicalJSON.append(payload.span.bytes, to: &scratch)
    } catch {
      preconditionFailure("an event that was encoded here has no JSON: \(error)")
    }
    return scratch[...].exactCopy
  }
}

extension ArraySlice<UInt8> {
  /// An array of its own without room to spare. `Array(slice)` may share the memory of the whole.
  var exactCopy: [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(count)
    copy.append(contentsOf: self)
    return copy
  }
}
