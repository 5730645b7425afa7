import type { INodeParameters } from 'n8n-workflow';
import omit from 'lodash/omit';
import pick from 'lodash/pick';

const IN_OPTIONS = [
	...['webhooksGoTo', 'notificationUrl', 'qrCodeImage'],
	...['timeLimit', 'timeLimitUnit'],
];

/** Puts the fields of Options that are given beside the others among the options. */
export function inOptions({ options, ...parameters }: INodeParameters): INodeParameters {
	const given = { ...pick(parameters, IN_OPTIONS), ...Object(options ?? {}) } as INodeParameters;

	return { ...omit(parameters, IN_OPTIONS), options: given };
}
