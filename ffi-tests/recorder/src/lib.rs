//! Records real circuits as fixtures.
