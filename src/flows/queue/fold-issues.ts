import { type Issue, warningIssue } from '../../base/issue.ts';
import { msgid } from '../../base/language.ts';
import { cmd, joined, type Message, nmsg } from '../../base/message.ts';
import { NOT_HARVESTED } from '../../find/rule.ts';
import { KEEPS_PLACE, TELLS_PLACE, TELLS_PLACE_IN_XMP } from './kept-photographs.ts';

/** What is said once of all photographs that have it. */
const OF_PHOTOGRAPHS: readonly (readonly [rule: string, message: (count: number) => Message])[] = [
  [
    TELLS_PLACE,
    (told) =>
      nmsg(
        msgid`${told} photograph tells where it was taken (GPS). The service takes that out of EXIF, and compresses the picture again for it; --strip-gps takes it out here and leaves the picture as it is.`,
        msgid`${told} photographs tell where they were taken (GPS). The service takes that out of EXIF, and compresses the pictures again for it; --strip-gps takes it out here and leaves the pictures as they are.`,
        told,
      ),
  ],
  [
    TELLS_PLACE_IN_XMP,
    (told) =>
      nmsg(
        msgid`${told} photograph tells where it was taken (GPS in XMP). The service takes places out of EXIF only and leaves this one; --strip-gps takes it out here.`,
        msgid`${told} photographs tell where they were taken (GPS in XMP). The service takes places out of EXIF only and leaves these; --strip-gps takes them out here.`,
        told,
      ),
  ],
  [
    KEEPS_PLACE,
    (kept) =>
      nmsg(
        msgid`${kept} HEIC photograph tells where it was taken (GPS). Neither the service nor pas can take that out; to hide the place, save it as JPEG.`,
        msgid`${kept} HEIC photographs tell where they were taken (GPS). Neither the service nor pas can take that out; to hide the places, save them as JPEG.`,
        kept,
      ),
  ],
];

/** A camera that writes the place writes it into every photograph: one warning says it of all. */
export function foldPlaces(issues: readonly Issue[]): readonly Issue[] {
  return OF_PHOTOGRAPHS.reduce((left, [rule, message]) => {
    const others = left.filter((issue) => issue.rule !== rule);
    const count = left.length - others.length;
    return count > 1 ? [...others, warningIssue(rule, message(count))] : left;
  }, issues);
}

/**
 * A table without harvested vocabularies has a warning for every cell that names a term, and one of a doubtful project for every
 * row: one says the same.
 *
 * @param more of the former that were counted and not kept
 */
export function foldUnchecked(issues: readonly Issue[], more = 0): Issue[] {
  const checked = issues.filter((issue) => issue.rule !== NOT_HARVESTED);
  const unchecked = issues.length - checked.length + more;
  const rest = foldProjects(checked);
  if (unchecked === 0) return rest;
  const message = nmsg(
    msgid`${unchecked} identifier is taken unchecked, because its vocabulary was not harvested. Run ${cmd`pas harvest-vocab`} to check it.`,
    msgid`${unchecked} identifiers are taken unchecked, because their vocabularies were not harvested. Run ${cmd`pas harvest-vocab`} to check them.`,
    unchecked,
  );
  return [...rest, warningIssue(NOT_HARVESTED, message)];
}

function foldProjects(issues: readonly Issue[]): Issue[] {
  const alike = new Map<string, number>();
  for (const { severity, element, message } of issues) {
    if (severity === 'warning' && element === 'projekt') alike.set(message, (alike.get(message) ?? 0) + 1);
  }
  return issues.flatMap((issue) => {
    const { rule, message, says } = issue;
    const count = alike.get(message) ?? 1;
    if (count === 1) return [issue];
    alike.set(message, 0);
    const named = nmsg(msgid`${count} find names it.`, msgid`${count} finds name it.`, count);
    return count === 0 ? [] : [warningIssue(rule, joined([says, named], ' '), { element: 'projekt' })];
  });
}
