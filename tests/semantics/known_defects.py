"""What is known to be wrong: question and defect. Each is a strict xfail: whoever mends it takes its line out."""

KNOWN = {
    # ------------------------------------------------------------------------------------------ silent differences
    "code_of_a_helper_replaced": "a function's __code__ is not compared",
    "default_argument_replaced": "a function's __defaults__ are read once",
    "keyword_default_of_a_helper_replaced": "a function's __kwdefaults__ are read once",
    "method_replaced_on_the_class": "methods of classes are not compared",
    "call_operator": "methods of classes are not compared",
    "class_of_an_object_replaced": "an object's class is not compared",
    "abstract_instance_check": "virtual subclasses are not compared",
    "single_dispatch": "the registry of a dispatching function is not compared",
    "function_of_the_library_patched": "functions of the library are not compared",
    "builtin_shadowed": "a builtin that a global comes to shadow is not noticed",
    "imported_inside": "imports inside are done once",
    "partial_with_other_values": "the arguments of a functools.partial are not compared",
    "mapping_proxy": "what is behind a mappingproxy is not compared",
    "memory_view": "what is behind a memoryview is not compared",
    "numpy_array_of_objects": "the items of an object array are not compared",
    "subclass_of_dict": "__getattr__ of a user's class is called with names of our own",
    "weak_reference_that_dies": "what a weak reference leads to is not compared",
    "weak_reference_to_a_tensor": "what a weak reference leads to is not compared",
    "finaliser_within_the_call": "the side effect of a finaliser is not noticed",
    "lru_cache_of_tensors": "a tensor that is kept where no fact looks is not noticed",
    "environment_read": "the environment is read once, without a warning",
    "environment_by_getenv": "the environment is read once, without a warning",
    "file_read": "open() is not noticed",
}
