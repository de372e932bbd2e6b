"""What is known to be wrong: question and defect. Each is a strict xfail: whoever mends it takes its line out."""

UNNAMED = "the refusal names no line"

KNOWN = {
    # ------------------------------------------------------------------------------- refusals that do not say where
    "argument_list_appended": UNNAMED,
    "argument_dict_written": UNNAMED,
    "gradient_that_shares_an_argument": UNNAMED,
    "hook_registered_inside": UNNAMED,
    "data_rebound_inside": UNNAMED,
    # ------------------------------------------------------------------------------------------ silent differences
    "alias_captured_twice": "a result loses its history if another tensor over the parameter's memory was met first",
    "argument_of_a_subclass": "an argument's class is not compared",
    "tensor_as_a_key": "the identity of an argument is not compared",
    "tensor_identity": "the identity of an argument is not compared",
    "tensor_identity_among_arguments": "the identity of an argument is not compared",
    "attribute_on_a_tensor": "attributes that users set on tensors are not compared",
    "attribute_on_an_argument": "attributes that users set on tensors are not compared",
    "list_that_is_returned": "a captured list that is returned is another list",
    "data_made_an_alias": "captured tensors that come to share memory are not noticed",
    "gradient_shared_by_two_parameters": "gradients that come to be one tensor are not noticed",
    "parameters_of_a_group_swapped_in_place": "parameters of a group are only counted",
    "subclass_of_an_optimizer": "attributes of a user's optimizer are not compared",
    "counter_in_an_own_optimizer": "attributes of a user's optimizer are not compared",
}
