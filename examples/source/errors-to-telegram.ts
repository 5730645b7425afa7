import { errorTrigger } from './nodes';
import { html, tellTeam } from './parts';
import type { Recipe } from './workflow';

/** Informs the team when another workflow fails. */
export const errorsToTelegram: Recipe = (say) => {
	const start = errorTrigger(say('When a workflow fails', 'Quando um fluxo falha'));
	const what = '$json.execution?.error?.message ?? $json.trigger?.error?.message';
	// Telegram refuses a text of more than 4,096 characters.
	const why = (unknown: string): string => html(`String(${what} ?? '${unknown}').slice(0, 1000)`);
	const where = '$json.execution?.lastNodeExecuted ?? $json.trigger?.error?.node?.name';
	const tell = tellTeam(
		say('Tell the team', 'Avisar a equipe'),
		say(
			`⚠️ <b>${html('$json.workflow.name')}</b> has failed\nNode: ${html(`${where} ?? 'unknown'`)}\n${why('Open the execution')}\n{{ $json.execution?.url ?? '' }}`,
			`⚠️ <b>${html('$json.workflow.name')}</b> falhou\nNó: ${html(`${where} ?? 'desconhecido'`)}\n${why('Abra a execução')}\n{{ $json.execution?.url ?? '' }}`,
		),
	);
	return {
		name: say('Errors to the team, by Telegram', 'Erros para a equipe, por Telegram'),
		notes: [
			say(
				'## Errors to the team\nTells your team which workflow failed, in which node and why, with a link to the execution.',
				'## Erros para a equipe\nAvisa a equipe qual fluxo falhou, em que nó e por quê, com o link da execução.',
			),
			say(
				'## Set it up\n1. *Tell the team*: your Telegram credential and the id of your group.\n2. Publish it.\n3. In **each other workflow**, choose it under **... > Settings > Error workflow**.',
				'## Como configurar\n1. *Avisar a equipe*: sua credencial do Telegram e o id do seu grupo.\n2. Publique.\n3. Em **cada outro fluxo**, escolha este em **... > Settings > Error workflow**.',
			),
		],
		chains: [[start, tell]],
	};
};
