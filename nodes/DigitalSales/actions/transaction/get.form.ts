import { defineForm, defineOptions } from '../../form/defineForm';
import { transactionHashField } from '../../form/locators';
import {
	outputFieldsWithPicture,
	qrCodeImageOption,
	simplifyOption,
} from '../../form/outputOptions';

export const getForm = defineForm([
	transactionHashField,
	simplifyOption,
	defineOptions([qrCodeImageOption, outputFieldsWithPicture]),
]);
