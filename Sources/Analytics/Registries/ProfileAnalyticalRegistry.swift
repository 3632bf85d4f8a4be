/// What people change in their profiles.
public struct ProfileAnalyticalRegistry: Sendable {
  private let analytics: any AnalyticsEventSending

  /// - Parameter analytics: the service; in tests a recorder.
  public init(_ analytics: any AnalyticsEventSending) { self.analytics = analytics }

  /// Another picture was chosen.
  public func avatarChanged() { analytics.send(EventType.AvatarChanged()) }

  /// One event for a profile that was saved, with which of its fields changed.
  public func profileFieldsChanged(
    firstName: Bool = false, lastName: Bool = false, emailAddress: Bool = false, bio: Bool = false
  ) {
    analytics.send(
      EventType.ProfileFields(
        firstNameChanged: firstName, lastNameChanged: lastName, emailAddressChanged: emailAddress,
        bioChanged: bio))
  }
}

extension EventType {
  /// Another picture was chosen.
  public struct AvatarChanged: PublishableEvent, Hashable {
    public static let eventType: EventType = "Avatar Changed"

    public init() {}
  }

  /// A profile was saved: which fields changed, and `Total Fields Changed`.
  public struct ProfileFields: PublishableEvent, Hashable {
    public static let eventType: EventType = "Profile Fields"
    /// `First Name Changed`.
    public var firstNameChanged: Bool
    /// `Last Name Changed`.
    public var lastNameChanged: Bool
    /// `Email Address Changed`.
    public var emailAddressChanged: Bool
    /// `Bio Changed`.
    public var bioChanged: Bool

    public init(
      firstNameChanged: Bool, lastNameChanged: Bool, emailAddressChanged: Bool, bioChanged: Bool
    ) {
      self.firstNameChanged = firstNameChanged
      self.lastNameChanged = lastNameChanged
      self.emailAddressChanged = emailAddressChanged
      self.bioChanged = bioChanged
    }

    /// How many fields changed.
    public var totalFieldsChanged: Int {
      [firstNameChanged, lastNameChanged, emailAddressChanged, bioChanged].count(where: \.self)
    }

    public func encodeProperties(into writer: inout PropertyWriter) {
      writer.write("First Name Changed", firstNameChanged)
      writer.write("Last Name Changed", lastNameChanged)
      writer.write("Email Address Changed", emailAddressChanged)
      writer.write("Bio Changed", bioChanged)
      writer.write("Total Fields Changed", totalFieldsChanged)
    }
  }
}
