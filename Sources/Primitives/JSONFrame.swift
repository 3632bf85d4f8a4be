/// What stands around values in JSON that the program writes about itself.
public enum JSONFrame {
  /// `[...]` with what `each` appends for every value.
  public static func appendList<Value>(
    _ values: [Value], to output: inout [UInt8], _ each: (Value, inout [UInt8]) -> Void
  ) {
    output.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      each(value, &output)
    }
    output.append(UInt8(ascii: "]"))
  }

  /// `{...}` with each key and what `value` appends for its member.
  public static func appendObject<Member>(
    _ members: [Member], to output: inout [UInt8], key: (Member) -> String,
    _ value: (Member, inout [UInt8]) -> Void
  ) {
    output.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      JSONString.append(key(member), to: &output)
      output.append(UInt8(ascii: ":"))
      value(member, &output)
    }
    output.append(UInt8(ascii: "}"))
  }
}
