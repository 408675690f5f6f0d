/** What an assistant could know of a project, one entry per topic: a rule, and facts and episodes about the same topic. */
import { list, type Matter } from "./person.ts";

const facts = (...pairs: readonly (readonly [predicate: string, content: string])[]) =>
  pairs.map(([predicate, content]) => ({ predicate, content }));

const CARE = list(
  "ask a second person to look on; write down the time; do it on a copy first; wait for the nightly run; tell the front desk; keep the old state for a week; count the rows before and after; take the lock first; leave the window open until noon; note the number in the log book",
);

export const PROCEDURE: readonly Matter[] = [
  {
    facts: facts(
      ["release_owner", "{other} is responsible for the releases of {what}."],
      ["release_schedule", "A release of {what} is due every second Tuesday."],
    ),
    values: CARE,
    rule: "To release {what}, tag the commit, {value}, and only then publish.",
    episodes: list(
      "The release of {what} was pulled back after an hour because prices were shown as zero; {other} celebrated the release of {what} with cake",
    ),
    asks: list(
      "How do I release {what}?; Publish the new version of {what}.; What has to be done before {what} goes out to customers?",
    ),
    eventAsks: list("Why did we withdraw a version of {what}?; When were the prices of {what} wrong?"),
  },
  {
    facts: facts(
      ["backup_place", "Backups of {what} are kept in the cellar of the annex for ninety days."],
      ["backup_size", "A full backup of {what} takes forty gigabytes."],
    ),
    values: CARE,
    rule: "When restoring a backup of {what}, stop the writers, {value}, then compare the checksums.",
    episodes: list(
      "{other} found that the backup of {what} had been empty since the move; The backup of {what} ran twice in one night",
    ),
    asks: list(
      "How do we get the data of {what} back from a backup?; Walk me through a restore of {what}.; The disk of {what} is gone, what should I do?",
    ),
    eventAsks: list(
      "Who did discover that nothing had been saved for {what}?; What happened to {what} after the move?",
    ),
  },
  {
    facts: facts(
      ["schema_version", "The database of {what} is at schema version eleven."],
      ["database_owner", "{other} looks after the database of {what}."],
    ),
    values: CARE,
    rule: "Change the database of {what} in two steps: add first, {value}, remove a release later.",
    episodes: list(
      "A change to the database of {what} locked a table and orders stood still for twenty minutes; {other} drew the database of {what} on the whiteboard",
    ),
    asks: list(
      "How should I alter a table of {what}?; Migrate the columns of {what}.; What is our convention for schema changes in {what}?",
    ),
    eventAsks: list("When did orders come to a halt because of {what}?; What caused the outage of {what}?"),
  },
  {
    facts: facts(
      ["on_call", "{other} is on call for {what} this month."],
      ["alarm_count", "{what} raises about four alarms a week."],
    ),
    values: CARE,
    rule: "When an alarm of {what} goes off, silence it, {value}, then open the incident page.",
    episodes: list(
      "An alarm of {what} woke {other} at three, and it was only a full log disk; The alarm of {what} was tested with the doors open",
    ),
    asks: list(
      "What do I do when {what} pages me?; {what} is ringing at night, which steps come first?; How are we supposed to react to an alert from {what}?",
    ),
    eventAsks: list("Why was somebody woken up by {what}?; When did the disk of {what} run full?"),
  },
  {
    facts: facts(
      ["review_count", "Reviews of {what} need two approvals."],
      ["review_time", "A review of {what} takes a day on average."],
    ),
    values: CARE,
    rule: "In reviews of {what}, read the tests before the code, {value}, and ask instead of ordering.",
    episodes: list(
      "A review of {what} ended in a quarrel between {other} and the newcomer; {other} did eleven reviews of {what} on one day",
    ),
    asks: list(
      "How should I look through a pull request of {what}?; What are the guidelines for judging a patch to {what}?; Should I start with the tests when I check a change to {what}?",
    ),
    eventAsks: list("What did the two argue about over {what}?; When did people fight over a patch to {what}?"),
  },
  {
    facts: facts(["team_size", "Seven people work on {what}."], ["team_lead", "{other} leads the team of {what}."]),
    values: CARE,
    rule: "When somebody new joins the team of {what}, give read access only, {value}, and pair them for a week.",
    episodes: list(
      "The team of {what} welcomed a newcomer who deleted the test bench on the first day; The team of {what} had lunch at the lake",
    ),
    asks: list(
      "How do we bring a newcomer into {what}?; What is the process for onboarding to {what}?; A trainee starts with {what} on Monday, what do we have to arrange?",
    ),
    eventAsks: list("Who deleted the bench of {what}?; What happened on the first day of the newcomer at {what}?"),
  },
  {
    facts: facts(
      ["invoice_day", "Invoices of {what} go out on the third working day."],
      ["invoice_count", "{what} writes nine hundred invoices a month."],
    ),
    values: CARE,
    rule: "To correct an invoice of {what}, cancel it in full, {value}, and write a new one.",
    episodes: list(
      "All invoices of {what} went out twice and {other} apologised to every customer; {other} counted the invoices of {what} by hand",
    ),
    asks: list(
      "How do I change a wrong bill of {what}?; What's the policy on mistakes in {what} billing?; A customer of {what} was charged too much, what must I do?",
    ),
    eventAsks: list(
      "When were customers of {what} billed two times?; Why did {other} say sorry to the customers of {what}?",
    ),
  },
  {
    facts: facts(
      ["test_length", "The tests of {what} take eighteen minutes."],
      ["test_count", "{what} has two thousand tests."],
    ),
    values: CARE,
    rule: "When a test of {what} is flaky, mark it the same day, {value}, and repair it within a week.",
    episodes: list(
      "A test of {what} failed only at midnight, and {other} found a clock in it; The tests of {what} were moved to a faster machine",
    ),
    asks: list(
      "How should we treat checks of {what} that fail now and then?; Fix the unstable suite of {what}.; Is it okay to skip a shaky test of {what}?",
    ),
    eventAsks: list(
      "What did {other} find out about the nightly failure of {what}?; When was the time problem of {what} solved?",
    ),
  },
  {
    facts: facts(
      ["certificate_expiry", "The certificate of {what} is valid for a year."],
      ["certificate_issuer", "The certificate of {what} comes from the house authority."],
    ),
    values: CARE,
    rule: "Renew the certificate of {what} a month ahead: make a new key, {value}, then swap both at once.",
    episodes: list(
      "The certificate of {what} ran out over the weekend and nobody could sign in; {other} printed the certificate of {what} for the auditor",
    ),
    asks: list(
      "How do I renew the certificate of {what}?; What is the procedure for new keys in {what}?; The TLS of {what} expires soon, which steps are needed?",
    ),
    eventAsks: list("Why did nobody get into {what}?; When was the login of {what} down?"),
  },
  {
    facts: facts(
      ["log_retention", "Logs of {what} are deleted after thirty days."],
      ["log_place", "Logs of {what} are written to the second disk."],
    ),
    values: CARE,
    rule: "Before sharing logs of {what}, strip the names, {value}, and set a date of deletion.",
    episodes: list(
      "{other} mailed logs of {what} with names in them to the wrong supplier; {other} searched the logs of {what} for a whole afternoon",
    ),
    asks: list(
      "May I send the logs of {what} to somebody outside?; How do we hand out trace files of {what}?; What are the rules for passing on {what} logs?",
    ),
    eventAsks: list("What did {other} send to the wrong people about {what}?; When did names leak from {what}?"),
  },
];
