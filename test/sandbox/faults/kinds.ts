import type { AnswerFault, ChangingFault, Fault, FaultKind, NoticeFault } from './types';

type Family = 'answer' | 'change' | 'notice';

const FAMILIES: Record<FaultKind, Family> = {
	status: 'answer',
	resetBeforeProcessing: 'answer',
	resetAfterProcessing: 'answer',
	truncatedBody: 'answer',
	slowBody: 'answer',
	endlessBody: 'answer',
	html: 'answer',
	echoRequest: 'answer',
	successFalse: 'answer',
	notJson: 'answer',
	emptyBody: 'answer',
	redirect: 'answer',
	retryAfter: 'answer',
	delay: 'change',
	delayAfterProcessing: 'change',
	wrapData: 'change',
	patchBody: 'change',
	rateLimitHeaders: 'change',
	paginationLies: 'change',
	errorsByField: 'change',
	refused: 'change',
	earlyNotice: 'change',
	duplicateNotice: 'notice',
	lostNotice: 'notice',
};

export const FAULT_KINDS = Object.keys(FAMILIES);

export function isAnswerFault(fault: Fault): fault is AnswerFault {
	return FAMILIES[fault.kind] === 'answer';
}

export function isChangingFault(fault: Fault): fault is ChangingFault {
	return FAMILIES[fault.kind] === 'change';
}

export function isNoticeFault(fault: Fault): fault is NoticeFault {
	return FAMILIES[fault.kind] === 'notice';
}

/** Whether the service does its work although this fault takes the place of its answer. */
export function isProcessed(fault: AnswerFault): boolean {
	switch (fault.kind) {
		case 'resetBeforeProcessing':
			return false;
		case 'resetAfterProcessing':
			return true;
		case 'truncatedBody':
		case 'slowBody':
		case 'endlessBody':
		case 'notJson':
		case 'emptyBody':
			return fault.processed ?? true;
		default:
			return fault.processed ?? false;
	}
}
