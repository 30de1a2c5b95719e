/**
 * The checks that a bug fails besides those of its rows, with the default behaviours of the platform. Their families run with
 * the bug, so a bug that fails nearly all checks names those of one family; two of them name all.
 */
import type { BugName } from '../mutants/patches.ts'

export const ALSO_FAILED: { readonly [Bug in BugName]?: readonly string[] } = {
  // The order of files is that of the inbox.
  'shows-newest-first': ['ATT-01'],
  // Files and translated texts are shown twice too.
  'shows-twice': ['ATT-01', 'TRL-01'],
  // A further handover repeats and ends in the same way.
  'sends-twice': ['FLW-07'],
  'ends-twice': ['FLW-07'],
  // The goodbye comes after the end.
  'says-goodbye-late': ['DLV-04', 'FLW-07'],
  // A replay and a repetition open a conversation in the same way.
  'opens-twice-late': ['DLV-01'],
  'opens-twice': ['SIG-08', 'DLV-01'],
  // It accepts the hexadecimal signature, which is only similar.
  'compares-hex': ['SIG-05'],
  // Similar signatures are wrong too.
  'checks-no-signature-and-shows-late': ['SIG-04', 'SIG-05'],
  'checks-no-signature': ['SIG-05'],
  // A body that is no JSON ends in an exception.
  'breaks-on-byte-order-mark': ['ACK-03'],
  // Without a signature the header is missing too.
  'reads-the-algorithm': ['SIG-02'],
  // A repeated header has another length.
  'compares-without-lengths': ['SIG-06'],
  // A body that is no JSON ends in an exception.
  restringifies: ['WIR-02', 'ACK-03'],
  // Without a signature the header is missing too.
  'dies-without-algorithm': ['SIG-02'],
}
