import { cmd, type Message, msg } from '../base/message.ts';
import type { FindElements } from './fields.ts';
import type { ProjectLookup } from './lookup.ts';
import { type Finding, type Rule, type RuleContext, rankOf } from './rule.ts';

/**
 * Imports go into survey projects that the account may use (A-PROJECT-1 to A-PROJECT-7). Facts that may have changed since the
 * harvest, or that this account may not see, give a warning instead of an error.
 */
export const PROJECT_RULES: readonly Rule[] = [
  { name: 'survey-project', judge: survey },
  { name: 'project-state', judge: takesFinds },
  { name: 'project-organisation', judge: ownOrPartner },
];

type FoundProject = Extract<ProjectLookup, { kind: 'found' }>;

function survey({ projekt }: FindElements, context: RuleContext): Finding[] {
  const { lookupProject } = context;
  if (projekt === undefined || lookupProject === undefined) return [];
  const { id } = projekt;
  const project = lookupProject(id);
  switch (project.kind) {
    case 'found':
      if (project.survey) return [];
      return [refused(msg`${id} is a project of the type "${project.type}". Finds belong to survey projects; name one.`)];
    case 'deleted':
      return [refused(msg`${id} was deleted at the service. Name an existing project.`)];
    case 'unknown': {
      const capitals = id.toUpperCase();
      if (lookupProject(capitals).kind === 'found') {
        return [refused(msg`There is no project ${id}: the service distinguishes upper and lower case. Write ${capitals}.`)];
      }
      const message = msg`${id} is not among the harvested projects. Check the spelling; if the project is new, run ${cmd`pas harvest-vocab`} projekt.`;
      return [isWholeList(project.list, context) ? refused(message) : pointedOut(message)];
    }
    case 'hidden':
      return [pointedOut(msg`${id} is not shown to this account, so its type and state are not checked here.`)];
    case 'not-harvested':
      return [];
  }
}

/** An archaeologist sees every project that accepts finds; a researcher only archived ones. */
function isWholeList(list: 'whole' | 'as-shown' | undefined, context: RuleContext): boolean {
  const rank = rankOf(context);
  return list === 'whole' || (list === 'as-shown' && rank !== undefined && rank !== 'researcher');
}

/** States other than 3 and 4, in which every role may import. An ended project (`isOver`) is not reopened. */
const STATES: Readonly<Record<number, { readonly name: Message; readonly isOver?: true }>> = {
  [-1]: { name: msg`created` },
  0: { name: msg`announced` },
  1: { name: msg`registered` },
  2: { name: msg`signed up` },
  5: { name: msg`closed`, isOver: true },
  6: { name: msg`archived`, isOver: true },
  7: { name: msg`proposed for cancellation` },
  8: { name: msg`cancelled`, isOver: true },
};

function takesFinds({ projekt }: FindElements, context: RuleContext): Finding[] {
  const project = surveyOf(projekt?.id, context);
  const state = STATES[project?.stav ?? 3];
  const rank = rankOf(context);
  if (projekt === undefined || state === undefined || (rank === 'archivist' && project?.stav !== -1)) return [];
  const { id } = projekt;
  const message = msg`${id} is in the state "${state.name}". The service accepts finds only for projects that have started in the field and are not closed. If its state has changed: ${cmd`pas harvest-vocab`} projekt`;
  return [state.isOver && rank !== undefined ? refused(message) : pointedOut(message)];
}

/** The partners of an archaeologist are not known offline, so this is a warning. */
function ownOrPartner({ projekt }: FindElements, context: RuleContext): Finding[] {
  const { organisation: own = '' } = context;
  const of = surveyOf(projekt?.id, context)?.organisation ?? '';
  if (projekt === undefined || rankOf(context) !== 'archaeologist' || own === '' || of === '' || of === own) return [];
  const { id } = projekt;
  return [
    pointedOut(
      msg`${id} belongs to ${of}, you to ${own}. The service accepts the find only if you cooperate with an archaeologist of ${of}.`,
    ),
  ];
}

function surveyOf(id: string | undefined, { lookupProject }: RuleContext): FoundProject | undefined {
  const project = id === undefined ? undefined : lookupProject?.(id);
  return project?.kind === 'found' && project.survey ? project : undefined;
}

function refused(message: Message): Finding {
  return { element: 'projekt', message };
}

function pointedOut(message: Message): Finding {
  return { element: 'projekt', message, warning: true };
}
