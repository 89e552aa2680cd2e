import { formatDecimal, msgid, ngettext, t } from '../../base/language.ts';
import { type Message, msg } from '../../base/message.ts';
import { foldName } from '../../base/names.ts';
import type { FindElements } from '../../finds/fields.ts';
import {
  type Answer,
  type FileStatus,
  getFindName,
  type Questions,
} from '../../outbox/changes/match-folder.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { iterateFinds } from '../../outbox/stored-finds.ts';
import { STATE_WORDS } from '../../outbox/views/entry-words.ts';
import type { Confidence, Match, Reason } from '../../photos/match-photographs.ts';
import type { Prompt, PromptOffer } from '../prompt.ts';

export function makeMatchQuestions(outbox: Outbox, prompt: Prompt): Questions {
  const offers = new Map<string, PromptOffer<Answer>>();
  for (const { localId, elements } of iterateFinds(outbox)) {
    const { druh_nalezu: object, datum_nalezu: foundOn } = elements as FindElements;
    const about = [object?.text ?? '', foundOn ?? ''].filter((part) => part !== '').join(', ');
    const name = about === '' ? localId : `${localId}  ${about}`;
    offers.set(localId, { value: { kind: 'find', localId }, name, short: localId });
  }
  const skip: PromptOffer<Answer> = {
    value: { kind: 'skip' },
    name: t`skip this photograph`,
    short: t`skipped`,
  };
  const stop: PromptOffer<Answer> = {
    value: { kind: 'stop' },
    name: t`skip all remaining`,
    short: t`all remaining are skipped`,
  };
  return {
    confirmLikely: (count) =>
      prompt.confirm(
        ngettext(
          msgid`Queue the ${count} likely match as well? Otherwise pas asks about it.`,
          `Queue the ${count} likely matches as well? Otherwise pas asks about each.`,
          count,
        ),
        true,
      ),
    askWhichFind: (match, number, all) => {
      const why = formatReasons(match);
      return prompt.search<Answer>({
        message: t`(${number}/${all}) ${match.file}, ${why}. Which find?`,
        listOffers(typed) {
          const query = foldName(typed);
          const finds = [...offers.values()];
          if (query !== '')
            return [...finds.filter(({ name }) => foldName(name).includes(query)), skip];
          const likely = match.candidates.flatMap((localId) => offers.get(localId) ?? []);
          return [skip, ...likely, stop, ...finds.filter((find) => !likely.includes(find))];
        },
      });
    },
  };
}

/** Texts of matches for people; programs read the codes. */

const CONFIDENCE_WORDS: Readonly<Record<Confidence, Message>> = {
  sure: msg`certain`,
  likely: msg`likely`,
  doubtful: msg`doubtful`,
  none: '–',
};

function formatReasons({ reasons }: Match): string {
  return reasons.map(formatReason).join(', ');
}

const KILOMETRE_M = 1000;

function formatReason(reason: Reason): string {
  switch (reason.kind) {
    case 'name':
      return t`named ${reason.id}`;
    case 'folder':
      return t`in the folder ${reason.id}`;
    case 'like-name':
      return t`named like ${reason.id}`;
    case 'several-names': {
      const ids = reason.ids.join(', ');
      return t`named after several: ${ids}`;
    }
    case 'distance': {
      const metres = Math.round(reason.metres);
      return t`${metres} m from it`;
    }
    case 'far': {
      const away =
        reason.metres < KILOMETRE_M
          ? `${Math.round(reason.metres)} m`
          : `${formatDecimal(reason.metres / KILOMETRE_M, 1)} km`;
      return t`but ${away} from it`;
    }
    case 'entered': {
      const minutes = formatSigned(reason.minutes);
      return t`${minutes} min from its entry`;
    }
    case 'same-day':
      return t`on its day`;
    case 'other-day': {
      const days = formatSigned(reason.days);
      return t`but ${days} d from its day`;
    }
    case 'next-to': {
      const seconds = reason.seconds;
      return t`${seconds} s from ${reason.file}`;
    }
  }
}

function formatSigned(number: number): string {
  return number > 0 ? `+${number}` : String(number);
}

/** Returns file, find, confidence and reasons. */
export function formatMatchRow(fate: FileStatus): readonly string[] {
  switch (fate.kind) {
    case 'matched': {
      const { find, confidence } = fate.match;
      return [
        fate.file,
        find ?? '',
        String(CONFIDENCE_WORDS[confidence]),
        formatReasons(fate.match),
      ];
    }
    case 'known': {
      const names = new Set(fate.entries.map(getFindName));
      const finds = [...names].join(', ');
      const states = [...new Set(fate.entries.map(({ state }) => STATE_WORDS[state]))].join(', ');
      const count = names.size;
      return count > 1
        ? [fate.file, finds, t`several`, t`already here for ${count} finds: ${states}`]
        : [fate.file, finds, t`known`, t`already here: ${states}`];
    }
    case 'copy':
      return [fate.file, '', t`copy`, t`the same picture as ${fate.of}`];
    case 'refused':
      return [fate.file, '', t`skipped`, t`cannot be sent, see below`];
  }
}
