/**
 * The checks that a bug fails besides those of its rows, with the default behaviours of the platform. Their families run with
 * the bug, so a bug that fails nearly all checks names those of one family; two of them name all.
 */
import type { BugName } from '../mutants/patches.ts'

const ALL_BUT_SIG_01 = [
  'SIG-02',
  'SIG-03',
  'SIG-04',
  'SIG-05',
  'SIG-06',
  'SIG-07',
  'SIG-08',
  'WIR-01',
  'WIR-02',
  'ACK-01',
  'ACK-02',
  'ACK-03',
  'ACK-04',
  'ACK-05',
  'EVT-01',
  'EVT-02',
  'EVT-03',
  'EVT-04',
  'EVT-05',
  'EVT-06',
  'DLV-01',
  'DLV-02',
  'DLV-03',
  'DLV-04',
  'FLW-01',
  'FLW-02',
  'FLW-03',
  'FLW-04',
  'FLW-05',
  'FLW-06',
  'TXT-01',
  'TXT-02',
  'TXT-03',
  'ATT-01',
  'TRL-01',
  'TYP-01',
]

export const ALSO_FAILED: { readonly [Bug in BugName]?: readonly string[] } = {
  // The order of files is that of the inbox.
  'shows-newest-first': ['ATT-01'],
  // Files and translated texts are shown twice too.
  'shows-twice': ['ATT-01', 'TRL-01'],
  // The goodbye comes after the end.
  'says-goodbye-late': ['DLV-04'],
  // No handover starts; checks of other families fail too.
  'accepts-locally': ['FLW-02', 'FLW-03', 'FLW-04', 'FLW-06'],
  // The chat stays taken over.
  'ends-locally': ['DLV-04', 'FLW-06'],
  // No call is accepted.
  'bot-id-as-text': [
    'ACK-01',
    'ACK-02',
    'ACK-04',
    'ACK-05',
    'EVT-03',
    'EVT-05',
    'DLV-01',
    'DLV-02',
    'DLV-03',
    'DLV-04',
    'FLW-01',
    'FLW-02',
    'FLW-03',
    'FLW-04',
    'FLW-06',
    'TXT-01',
    'TXT-02',
    'TXT-03',
    'ATT-01',
    'TRL-01',
    'TYP-01',
  ],
  // No message counts as acknowledged; checks of other families fail too.
  'acks-messages-with-202': ['ACK-02', 'ACK-04', 'ACK-05'],
  // A replay and a repetition open a conversation in the same way.
  'opens-twice-late': ['DLV-01'],
  'opens-twice': ['SIG-08', 'DLV-01'],
  // No event is accepted.
  'adds-a-newline-to-the-key': ALL_BUT_SIG_01,
  // No event is accepted; checks of other families fail too.
  'compares-hex': ['SIG-02', 'SIG-03', 'SIG-04', 'SIG-05', 'SIG-06', 'SIG-07', 'SIG-08'],
  // Similar signatures are wrong too.
  'checks-no-signature-and-shows-late': ['SIG-04', 'SIG-05'],
  'checks-no-signature': ['SIG-05'],
  // A body that is no JSON ends in an exception.
  'breaks-on-byte-order-mark': ['ACK-03'],
  // Without a signature the header is missing too.
  'reads-the-algorithm': ['SIG-02'],
  // A repeated header has another length.
  'compares-without-lengths': ['SIG-06'],
  // Texts that are not ASCII are refused.
  'verifies-latin1': ['EVT-05', 'TXT-01'],
  // A body that is no JSON ends in an exception.
  restringifies: ['WIR-02', 'ACK-03'],
  // Without a signature the header is missing too.
  'dies-without-algorithm': ['SIG-02'],
}
